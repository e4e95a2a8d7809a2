# prices.sh is the price list.

# price_of TEA prints what 100 g of it cost, in cents.
price_of() {
	case $1 in
	assam) echo 500 ;;
	darjeeling) echo 899 ;;
	earl-grey) echo 499 ;;
	mint) echo 200 ;;
	sencha) echo 650 ;;
	*)
		echo "no price for $1" >&2
		return 1
		;;
	esac
}
