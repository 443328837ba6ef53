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
    random=$(od -An -N2 -tu2 /dev/urandom)
    printf '{"ask_id":"%s","index":%d}\n' "$id" $((random % moves))
done
