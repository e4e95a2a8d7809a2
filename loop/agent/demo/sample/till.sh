#!/bin/sh
# till.sh CENTS [CENTS]... adds up prices and prints the total in euros.

total=0
for cents in "$@"; do
	case $cents in
	'' | *[!0-9]*)
		echo "till: not a price in cents: $cents" >&2
		exit 2
		;;
	esac
	total=$((total + cents))
done
printf '%d.%02d\n' "$((total / 100))" "$((total % 100))"
