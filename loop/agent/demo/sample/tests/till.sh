check TestOnePrice 12.50 "$(./till.sh 1250)"
check TestTwoPrices 7.50 "$(./till.sh 500 250)"
check TestSmallChange 0.05 "$(./till.sh 5)"
check TestNotAPrice 2 "$(./till.sh tea 2>/dev/null || echo $?)"
