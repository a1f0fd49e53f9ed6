/** Loaded by `node --import`: the optional packages are not there, as in the slim image. */
import { register } from 'node:module';

const hooks = `export function resolve(specifier, context, next) {
  if (/^(chdb|@photostructure|@modelcontextprotocol)\\b/.test(specifier)) {
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  }
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
