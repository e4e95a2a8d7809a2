#!/bin/sh
# till.sh TEA GRAMS [TEA GRAMS]... prints the total of a sale in euros.

cd "$(dirname "$0")" || exit 1
. ./basket.sh

cents=$(basket_sum "$@") || exit 1
printf '%d.%02d\n' "$((cents / 100))" "$((cents % 100))"
