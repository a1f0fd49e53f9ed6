#!/bin/sh
# Writes .env for docker-compose.yml beside .env.example, with a random password for each account. An existing .env stays as it is.
set -eu
cd "$(dirname "$0")/.."
if [ -e .env ]; then
    echo '.env exists already, and was not changed.' >&2
    exit 1
fi
umask 077
while IFS= read -r line; do
    case $line in
        *_PASSWORD=) line=$line$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n') ;;
    esac
    printf '%s\n' "$line"
done < .env.example > .env
echo '.env has four new passwords. Keep a copy of this file: the stores keep their passwords in their volumes.'
