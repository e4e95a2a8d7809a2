check TestAdapter 12.50 "$(./adapter.sh assam 200 mint 125)"
check TestAdapterNoPrice "" "$(./adapter.sh coffee 100 2>/dev/null)"
check TestOldTillStays 12.50 "$(./till.sh 1000 250)"
