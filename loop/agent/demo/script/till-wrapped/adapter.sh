#!/bin/sh
# adapter.sh TEA GRAMS [TEA GRAMS]... is the till at the counter: it weighs and
# adds up, and leaves the printing to the old till.

cd "$(dirname "$0")" || exit 1
. ./basket.sh

cents=$(basket_sum "$@") || exit 1
exec ./till.sh "$cents"
