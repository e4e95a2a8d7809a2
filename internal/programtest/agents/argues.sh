#!/bin/sh
# A planner and a critic that argue about a plan of two sections, and builders
# of its parts. The second section is rejected once.
. "$(dirname "$0")/lib.sh"
part=${n#*/}
sections() {
	printf '{"summary":"in two pieces","sections":[%s,%s]}' \
		'{"id":"a","title":"The price list","tasks":["a list is printed"],"files":["src/part-a.txt"],"steps":["write src/part-a.txt"],"depends_on":[]}' \
		"{\"id\":\"b\",\"title\":\"The basket\",\"tasks\":[\"a sum is printed\"],\"files\":[\"src/part-b.txt\"],\"steps\":[\"$1\"],\"depends_on\":[\"a\"]}"
}
case $HAT_NAME in
planner)
	if grep -q 'nothing tests the sum' "$prompt"; then sections "write src/part-b.txt and a test"; else sections "write src/part-b.txt"; fi |
		hat emit plan.complete --data - ;;
critic)
	if once critic; then
		hat emit critique.verdict --data '{"verdict":"REJECT","sections":[{"id":"a","verdict":"OKAY"},{"id":"b","verdict":"REJECT","objections":["nothing tests the sum"]}]}'
	else
		hat emit critique.verdict --data '{"verdict":"OKAY","sections":[{"id":"a","verdict":"OKAY"},{"id":"b","verdict":"OKAY"}]}'
	fi ;;
builder)
	if [ "$part" = a ]; then
		hold go-a
		hat memory add --kind memory "Prices are cents" || exit 1
		hat memory add --kind decision "No floats: they lose cents" || exit 1
	fi
	mkdir -p src
	echo "part $part" >"src/part-$part.txt"
	hat emit build.complete --data "{\"summary\":\"built $part\",\"files_modified\":[\"src/part-$part.txt\"]}" ;;
*) honest ;;
esac
