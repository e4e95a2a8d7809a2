# place ITEM COUNT: the old way to place an order.
place() { echo "order: $2 x $1"; }
