#!/usr/bin/env node
/** Runs process.ts from the bundle that services/vite.config.mjs makes. */
await import(new URL('../../bundled/command/services/cli/process.js', import.meta.url).href);
