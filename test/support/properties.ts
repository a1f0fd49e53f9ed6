import fc from 'fast-check';
import { SEED } from './random.js';

// A change is judged by the same draws each time; the nightly suites set another seed. A report says which assertion failed.
fc.configureGlobal({ seed: SEED, includeErrorInReport: true });
