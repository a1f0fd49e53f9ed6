# As the entrypoint of the image: ELASTIC_PASSWORD is that of `elastic`, and variables with a dot are settings.
set -euo pipefail
if [ ! -e config/.password ]; then
  bin/elasticsearch-keystore add --stdin bootstrap.password <<<"$ELASTIC_PASSWORD"
  touch config/.password
fi
settings=()
while IFS='=' read -r name value; do
  if [[ $name =~ ^[a-z0-9_]+(\.[a-z0-9_]+)+$ ]]; then settings+=("-E$name=$value"); fi
done < <(env)
node /usr/local/lib/accounts.mjs &
exec bin/elasticsearch "${settings[@]}"
