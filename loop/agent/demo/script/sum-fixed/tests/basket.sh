. ./basket.sh

check TestSum 1250 "$(basket_sum assam 200 mint 125)"
check TestSumOfNothing 0 "$(basket_sum)"
check TestSumNoPrice "" "$(basket_sum coffee 100 2>/dev/null)"
check TestSumSmallPortions 499 "$(basket_sum earl-grey 50 earl-grey 50)"
