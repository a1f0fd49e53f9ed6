import { endpointsWith } from '../http/endpoint.js';
import { SCOPES } from '../http/scopes.js';
import { arrayOf, looseObject, strictObject, Type } from '../shared/schema.js';

export interface KeyServices {
  /** Of the key of the request. */
  scopes: ReadonlySet<string>;
}

const Key = looseObject(
  {
    key_id: Type.String({ description: 'Public id of the key, as in logs and `keys list`.' }),
    organization_id: Type.String({ description: 'Organization the key belongs to.' }),
    scopes: arrayOf(
      'What the key allows; `*` is everything.',
      Type.String({ description: 'A scope.', 'x-extensible-enum': ['*', ...SCOPES] }),
    ),
  },
  { $id: 'Key', description: 'An API key, without its secret.' },
);

export const describeKey = endpointsWith<KeyServices>()({
  method: 'GET',
  path: '/api/key',
  name: 'DescribeKey',
  operationId: 'describeKey',
  summary: 'Describe the key in use',
  description: 'Its organization and scopes.',
  tag: 'Operations',
  scope: [],
  request: strictObject({}),
  response: Key,
  example: {},
  handle: async ({ keyId, organizationId, services }) => ({
    key_id: keyId,
    organization_id: organizationId,
    scopes: [...services.scopes],
  }),
});
