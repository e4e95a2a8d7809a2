check TestTill 12.50 "$(./till.sh assam 200 mint 125)"
check TestSmallChange 0.02 "$(./till.sh mint 1)"
check TestTillNoPrice "" "$(./till.sh coffee 100 2>/dev/null)"
