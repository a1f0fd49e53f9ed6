#!/bin/bash
# As the entrypoint of the image: KAFKA_NODE_ID is the property node.id.
set -euo pipefail
properties=/opt/kafka/config/server.properties
java=(java ${KAFKA_HEAP_OPTS:--Xms1g -Xmx1g} -cp '/opt/kafka/libs/*' -Dorg.slf4j.simpleLogger.defaultLogLevel=warn)
env | sed -n 's/^KAFKA_//p' | while IFS='=' read -r name value; do
  if [ "$name" != HEAP_OPTS ]; then
    name=${name,,}
    echo "${name//_/.}=$value"
  fi
done >"$properties"
if [ ! -e "$KAFKA_LOG_DIRS/meta.properties" ]; then
  "${java[@]}" kafka.tools.StorageTool format --cluster-id 5L6g3nShT-eMCtK--X86sw --config "$properties"
fi
exec "${java[@]}" kafka.Kafka "$properties"
