#!/usr/bin/env node
/** Runs process.ts as services/vite.config.mjs bundles it. */
await import(new URL('../../bundled/command/services/cli/process.js', import.meta.url).href);
