#!/bin/bash
# `--bootstrap-server host:port`: whether the broker answers ApiVersions, without the Java virtual machine that the tool starts.
set -euo pipefail
exec 3<>"/dev/tcp/${2%:*}/${2#*:}"
# Length, API key 18, version 0, correlation id 1, no client id.
printf '\0\0\0\012\0\022\0\0\0\0\0\1\377\377' >&3
[ "$(timeout 5 head -c 4 <&3 | wc -c)" = 4 ]
