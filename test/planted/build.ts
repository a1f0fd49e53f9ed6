/** Builds the console with a fault in it. */
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import Router from '@koa/router';
import Koa from 'koa';
import { build, type Plugin } from 'vite';
import { addConsoleRoutes } from '../../services/gateway/console.js';
import { packageRoot } from '../../services/shared/fs.js';
import { tempFolder } from '../support/temp-folder.js';
import type { PlantedFault } from './faults.js';

const SERVICES = join(packageRoot, 'services');

/** The source of its file with the fault in it. Throws where its text is not there exactly once. */
export function plantedSource({ file, before, after, name }: PlantedFault): string {
  const [start, end, ...more] = readFileSync(join(SERVICES, file), 'utf8').split(before);
  if (end === undefined || more.length > 0)
    throw new Error(`${file} has the text of the fault "${name}" ${more.length + 1} times: ${before}`);
  return `${start}${after}${end}`;
}

const plant = (fault: PlantedFault): Plugin => ({
  name: 'plant',
  enforce: 'pre',
  load: (id) => (id === join(SERVICES, fault.file) ? plantedSource(fault) : undefined),
});

/** Serves the built console. */
export async function buildPlanted(fault: PlantedFault): Promise<RequestListener> {
  const outDir = tempFolder();
  await build({
    configFile: join(SERVICES, 'console/vite.config.ts'),
    plugins: [plant(fault)],
    build: { outDir, emptyOutDir: true },
  });
  const router = new Router();
  addConsoleRoutes(router, outDir);
  return new Koa().use(router.routes()).callback();
}
