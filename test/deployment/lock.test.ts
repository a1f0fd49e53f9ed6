import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';

interface Entry {
  integrity?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  dev?: boolean;
  hasInstallScript?: boolean;
}

const { packages } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>;
};
const entries = Object.entries(packages).filter(([path]) => path !== '');

describe('package-lock.json', () => {
  it('has a checksum of every package, but for binaries of other platforms that the registry in use did not have', () => {
    const without = entries.filter(([, { integrity }]) => integrity === undefined);
    const installedHere = without.filter(
      ([, { optional, os, cpu }]) => !optional || (os?.includes('linux') && cpu?.includes('x64')),
    );
    expect(installedHere.map(([path]) => path).filter((path) => !path.endsWith('-musl'))).to.deep.equal([]);
    const inProduction = without
      .filter(([, { dev }]) => !dev)
      .map(([path]) => path.replace('node_modules/', ''));
    // docs/operating/at-scale.md says how to handle these packages.
    expect(inProduction.sort()).to.deep.equal([
      '@chdb/lib-darwin-arm64',
      '@chdb/lib-darwin-x64',
      '@chdb/lib-linux-arm64-gnu',
    ]);
  });

  it('runs no script of a package in an installation but those that fetch or build the two embedded stores', () => {
    const scripts = entries.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
    expect(scripts).to.deep.equal(['node_modules/@photostructure/sqlite', 'node_modules/chdb']);
  });
});
