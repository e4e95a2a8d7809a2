# basket.sh adds up a basket of loose tea.

. ./prices.sh

# basket_sum TEA GRAMS [TEA GRAMS]... prints the price of all in cents.
basket_sum() (
	sum=0
	while [ $# -gt 0 ]; do
		price=$(price_of "$1") || exit 1
		grams=${2:?how many grams of $1?}
		sum=$((sum + price * grams))
		shift 2
	done
	echo "$((sum / 100))"
)
