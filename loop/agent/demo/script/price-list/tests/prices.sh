. ./prices.sh

check TestPrice 500 "$(price_of assam)"
check TestPriceWithDash 499 "$(price_of earl-grey)"
check TestNoPrice "" "$(price_of coffee 2>/dev/null)"
