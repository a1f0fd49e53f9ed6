import type { Static } from 'typebox';
import { SCOPES } from '../http/scopes.js';
import { cursorRequest, cursorResponse } from '../search/cursor.js';
import {
  arrayOf,
  boolean,
  dateTime,
  id,
  integer,
  looseObject,
  nullable,
  optional,
  organizationId,
  strictObject,
  Type,
  text,
  withDefault,
} from '../shared/schema.js';

const keyId = Type.String({
  description: 'Public id of the key, as in logs and `keys list`.',
  maxLength: 64,
});
const heldScopes = arrayOf(
  'What the key allows; `*` is everything.',
  Type.String({ description: 'A scope.', 'x-extensible-enum': ['*', ...SCOPES] }),
);

/** The key of a request. */
export const Key = looseObject(
  {
    key_id: keyId,
    organization_id: Type.String({ description: 'Organization the key belongs to.' }),
    scopes: heldScopes,
  },
  { $id: 'Key', description: 'An API key, without its secret.' },
);

export const ApiKey = looseObject(
  {
    key_id: keyId,
    name: nullable(text('What it is for.')),
    scopes: heldScopes,
    created_at: dateTime('When it was made, UTC.'),
    expires_at: nullable(dateTime('When it ceases to work, UTC; null where it does not.')),
    revoked_at: nullable(
      dateTime('When it, or with it a key that it descends from, was revoked, UTC; null while it is not.'),
    ),
    created_by: nullable(
      Type.String({
        description: '`key_id` of the key that made it; null for keys of the command line and older ones.',
        maxLength: 64,
      }),
    ),
    last_used_at: nullable(
      dateTime('When it was last used, UTC, precise to an hour; null where it never was.'),
    ),
  },
  { $id: 'ApiKey', description: 'An API key as it is kept: its secret is not.' },
);
export type ApiKey = Static<typeof ApiKey>;

export const ListKeysRequest = strictObject({
  organization_id: optional(organizationId),
  ...cursorRequest('Keys'),
});
export const ListKeysResponse = looseObject({
  organization_id: id('Organization of the keys.'),
  keys: arrayOf('The keys of this page, newest first, with those that were revoked.', ApiKey),
  ...cursorResponse('keys'),
});

export const CreateKeyRequest = strictObject({
  organization_id: optional(organizationId),
  name: optional(text('What it is for, as lists of keys show it.', { maxLength: 200 })),
  scopes: optional(
    arrayOf(
      'What it allows, nothing that the key of the request does not; without, the default scopes of these.',
      Type.Unsafe<string>({ type: 'string', description: 'A scope.', enum: ['*', ...SCOPES] }),
      { minItems: 1, maxItems: SCOPES.length + 1, uniqueItems: true },
    ),
  ),
  expires_at: optional(
    dateTime(
      'When it ceases to work, at the latest with the key of the request; without, at the same time as that key.',
    ),
  ),
});
export const CreateKeyResponse = looseObject({
  organization_id: id('Organization of the key.'),
  key: Type.String({ description: 'The key, for the header `X-Api-Key`. It is shown this once.' }),
  api_key: ApiKey,
});

export const RevokeKeyRequest = strictObject({
  organization_id: optional(organizationId),
  key_id: Type.String({ description: '`key_id` of a key of the organization.', minLength: 1, maxLength: 64 }),
  keep_descendants: withDefault(
    optional(
      boolean(
        'Whether keys stay that were made with it, or with a key made with it, and so on; otherwise they end too.',
      ),
    ),
    false,
  ),
});
export const RevokeKeyResponse = looseObject({
  organization_id: id('Organization of the key.'),
  api_key: ApiKey,
  revoked_descendants: integer(
    'How many keys end with it: those made with it, or with a key made with it, and so on, that have not expired and were not revoked by their own ids.',
    { minimum: 0 },
  ),
});

export const GetCreditsRequest = strictObject({ organization_id: optional(organizationId) });
export const GetCreditsResponse = looseObject({
  organization_id: id('Organization of the balance.'),
  credit_balance: nullable(
    integer('Credits left; null where the organization is not metered and contacts cost nothing.'),
  ),
});
