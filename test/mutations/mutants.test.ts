import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../services/shared/fs.js';
import { MUTANTS } from './mutants.js';

describe('The mutants of the worker', () => {
  for (const { name, file, replace } of MUTANTS) {
    it(`can be applied: ${name}`, () => {
      expect(readFileSync(join(packageRoot, 'dist', file), 'utf8').split(replace)).to.have.lengthOf(2);
    });
  }
});
