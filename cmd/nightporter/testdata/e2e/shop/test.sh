# Runs every test; the first that fails ends it.
for t in tests/*.sh; do
	if ! sh -e "$t"; then
		echo "FAIL $t"
		exit 1
	fi
	echo "ok   $t"
done
