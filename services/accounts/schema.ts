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
  'What the key allows; `*` means everything.',
  Type.String({ description: 'A scope.', 'x-extensible-enum': ['*', ...SCOPES] }),
);

/** The API key that authenticated a request. */
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
    name: nullable(text('Purpose of the key.')),
    scopes: heldScopes,
    created_at: dateTime('When the key was created, UTC.'),
    expires_at: nullable(dateTime('When the key expires, UTC; null if it does not expire.')),
    revoked_at: nullable(
      dateTime(
        'When the key was revoked, by its own id or with a key that it descends from, UTC; null if it is not revoked.',
      ),
    ),
    created_by: nullable(
      Type.String({
        description: '`key_id` of the key that created it; null for keys of the command line and older keys.',
        maxLength: 64,
      }),
    ),
    last_used_at: nullable(dateTime('When the key was last used, UTC, precise to an hour; null if never.')),
  },
  { $id: 'ApiKey', description: 'An API key as it is stored, without its secret.' },
);
export type ApiKey = Static<typeof ApiKey>;

export const ListKeysRequest = strictObject({
  organization_id: optional(organizationId),
  ...cursorRequest('Keys'),
});
export const ListKeysResponse = looseObject({
  organization_id: id('Organization of the keys.'),
  keys: arrayOf('The keys of this page, newest first, including revoked keys.', ApiKey),
  ...cursorResponse('keys'),
});

export const CreateKeyRequest = strictObject({
  organization_id: optional(organizationId),
  name: optional(text('Purpose of the key, as lists of keys show it.', { maxLength: 200 })),
  scopes: optional(
    arrayOf(
      'Scopes of the new key, which the key of the request must have. Default: the default scopes among them.',
      Type.Unsafe<string>({ type: 'string', description: 'A scope.', enum: ['*', ...SCOPES] }),
      { minItems: 1, maxItems: SCOPES.length + 1, uniqueItems: true },
    ),
  ),
  expires_at: optional(
    dateTime(
      'When the new key expires, at the latest with the key of the request. Default: the same time as that key.',
    ),
  ),
});
export const CreateKeyResponse = looseObject({
  organization_id: id('Organization of the key.'),
  key: Type.String({ description: 'The key, for the header `X-Api-Key`. It is shown only once.' }),
  api_key: ApiKey,
});

export const RevokeKeyRequest = strictObject({
  organization_id: optional(organizationId),
  key_id: Type.String({ description: '`key_id` of a key of the organization.', minLength: 1, maxLength: 64 }),
  keep_descendants: withDefault(
    optional(
      boolean(
        'Whether keys stay that were created with this key, or with such a key, and so on; otherwise they are revoked too.',
      ),
    ),
    false,
  ),
});
export const RevokeKeyResponse = looseObject({
  organization_id: id('Organization of the key.'),
  api_key: ApiKey,
  revoked_descendants: integer(
    'How many keys are revoked with it: keys created with it, or with such a key, and so on, that have not expired and were not revoked by their own ids.',
    { minimum: 0 },
  ),
});

export const GetCreditsRequest = strictObject({ organization_id: optional(organizationId) });
export const GetCreditsResponse = looseObject({
  organization_id: id('Organization of the balance.'),
  credit_balance: nullable(
    integer('Credits left; null if the organization is not metered, so that contacts cost nothing.'),
  ),
});
