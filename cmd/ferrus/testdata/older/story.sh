#!/bin/sh
# Plays the two halves of a story in the project of the working directory, with the ferrus of PATH. The first half is what
# an older build has left; the second goes on with it. To pack what the ferrus of PATH leaves, in an empty folder: story.sh pack FILE
set -e
here=$(cd "$(dirname "$0")" && pwd)

# tool has an agent of a role call a tool, and prints the answer. Its session is the calls between begin and end.
begin() { # ROLE
    dir=$(mktemp -d)
    mkfifo "$dir/in" "$dir/out"
    ferrus serve --root . --role "$1" --agent-name "$1" --wait 5 <"$dir/in" >"$dir/out" &
    exec 3>"$dir/in" 4<"$dir/out"
    id=0
    rpc initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}'
    printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' >&3
}
rpc() { # METHOD PARAMS
    id=$((id + 1))
    printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' $id "$1" "$2" >&3
    while read -r answer <&4; do
        case $answer in *'"id":'"$id"[,}]*) break ;; esac
    done
    case $answer in *'"isError":true'* | *'"error":{'*)
        echo "$2: $answer" >&2
        exit 1
        ;;
    esac
}
tool() { # NAME ARGUMENTS
    rpc tools/call '{"name":"'"$1"'","arguments":'"${2:-{\}}"'}'
}
end() {
    exec 3>&- 4<&-
    wait
    rm -rf "$dir"
}
# agrees agrees to the values of the project. The oldest builds asked for no agreement.
agrees() {
    digest=$(ferrus trust --show 2>/dev/null | sed -n 's/^digest //p')
    [ -z "$digest" ] || ferrus trust --digest "$digest"
}
approves() {
    begin supervisor
    tool review_pending
    tool approve
    end
}

case $1 in
pack)
    git init -q -b main
    git config user.name A && git config user.email a@example.org
    git config core.hooksPath /dev/null && rm -rf .git/hooks .git/info .git/description
    echo hello >greeting.txt
    printf '[checks]\ncommands = ["test -s greeting.txt"]\n' >ferrus.toml
    echo /.ferrus/ >.gitignore
    git add . && git commit -q -m start
    ferrus init
    agrees
    begin supervisor
    tool create_task '{"description":"# Greet the person\n\nBy name: süß."}'
    end
    begin executor
    tool wait_for_task
    echo "hello, Ada" >greeting.txt
    tool check
    tool submit '{"summary":"It greets.","verification":"looked at it"}'
    end
    begin supervisor
    tool review_pending
    tool reject '{"notes":"Which person?"}'
    end
    begin executor
    tool wait_for_task
    echo "hello, Grace" >greeting.txt
    tool submit '{"summary":"It greets Grace.","verification":"looked at it"}'
    end
    approves
    ferrus branch other --task "Greet in French." 2>/dev/null || true
    ferrus queue "Greet in German." 2>/dev/null || true
    begin supervisor
    tool create_task '{"description":"Greet everybody."}'
    end
    begin executor
    tool wait_for_task
    echo "hello, all" >greeting.txt
    tool ask_human '{"question":"Everybody, or everybody here?"}'
    end
    tar -czf "$2" --owner=0 --group=0 --numeric-owner --sort=name .
    ;;
on)
    agrees
    ferrus answer "Everybody here."
    begin executor
    tool wait_for_task
    echo "hello, all here" >greeting.txt
    tool submit '{"summary":"It greets all here.","verification":"looked at it"}'
    end
    approves
    ;;
esac
