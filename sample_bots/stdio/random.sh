#!/bin/sh
# A bot in a shell script: it plays a random legal move, in any game.
#   cardarena bridge -- sample_bots/stdio/random.sh
while IFS= read -r line; do
    case $line in '{"ask":'*) ;; *) continue ;; esac
    id=${line#*'"ask_id":"'}
    id=${id%%'"'*}
    texts=${line#*'"move_texts":["'}
    texts=${texts%%'"]'*}
    moves=1
    while [ "${texts#*'","'}" != "$texts" ]; do
        texts=${texts#*'","'}
        moves=$((moves + 1))
    done
    seed=${line##*'"seed":'}
    seed=${seed%%[!0-9]*}
    printf '{"ask_id":"%s","index":%d}\n' "$id" $((seed % moves))
done
