# syntax=docker/dockerfile:1
# Two images of the same program: `full` (the default) has the embedded stores; `slim` has neither of them and needs
# ELASTICSEARCH_URL and CLICKHOUSE_URL.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: `prepare` would build before the sources are there.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.server.json build.mjs ./
COPY services services
COPY ingest ingest
COPY mappings mappings
COPY docs docs
COPY site site
RUN node build.mjs && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim AS base
ENV NODE_ENV=production \
    NODE_OPTIONS=--enable-source-maps \
    HOST=0.0.0.0 \
    PORT=8080 \
    REACHLINE_DATA_DIR=/data
WORKDIR /app
RUN mkdir /data && chown node:node /data && ln -s /app/reachline /usr/local/bin/reachline
COPY package.json reachline LICENSE* ./
COPY mappings mappings
COPY services/demo/locales.txt services/demo/locales.txt
COPY services/gateway/examples.json services/gateway/examples.json
COPY services/search/equivalents services/search/equivalents
COPY services/search/country-names.txt services/search/country-names.txt
COPY services/shared/han-variants.txt services/shared/han-variants.txt
COPY --from=build /app/dist/services dist/services
COPY --from=build /app/dist/ingest dist/ingest
COPY --from=build /app/dist/bundled dist/bundled
COPY --from=build /app/dist/console dist/console
COPY --from=build /app/dist/docs dist/docs
USER node
EXPOSE 8080
# Of a gateway or a worker, whichever of the two this container runs.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["node", "-e", "const { PORT = 8080, REACHLINE_WORKER_PORT = 8081 } = process.env; const ask = (port) => fetch(`http://127.0.0.1:${port}/livez`).then(({ ok }) => ok || Promise.reject()); Promise.any([ask(PORT), ask(REACHLINE_WORKER_PORT)]).then(() => process.exit(0), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/services/cli/main.js"]
CMD ["serve"]

FROM build AS slim-modules
RUN npm prune --omit=dev --omit=optional --ignore-scripts

FROM base AS slim
COPY --from=slim-modules /app/node_modules node_modules

FROM base AS full
COPY --from=build /app/node_modules node_modules
VOLUME /data
