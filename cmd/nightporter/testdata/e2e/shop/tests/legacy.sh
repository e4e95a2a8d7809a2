. lib/legacy.sh
[ "$(place tea 2)" = "order: 2 x tea" ]
