/** Creates a contact in two steps: the first shows what would be created and its cost, and only exactly that can be confirmed. */
import { createHmac } from 'node:crypto';
import type { Client, RequestOf, ResponseOf } from '../client/client.js';
import { ReachlineProblem } from '../client/problems.js';
import { CreateContactQuery, CreateContactRequest } from '../contacts/schema.js';
import { Problem } from '../http/problems.js';
import { inputFields, type JsonSchema } from './tool-schema.js';

const PATH = '/api/contacts/create';
type Created = ResponseOf<typeof PATH>;

const queryFields = inputFields(CreateContactQuery);
const bodyFields = inputFields(CreateContactRequest);
const { dry_run: _, ...queryProperties } = queryFields.properties;
const { organization_id: __, ...bodyProperties } = bodyFields.properties;

export const createContactTool = {
  name: 'contacts_create',
  title: 'Create a contact in an audience',
  description:
    'Two calls. The first writes nothing: it answers what would be created, what it would cost and which contacts are duplicates, with a `confirmation`. Show that to the user. Only when the user agrees, call again with the same arguments and that `confirmation`.',
  inputSchema: {
    type: 'object',
    properties: {
      ...bodyProperties,
      ...queryProperties,
      confirmation: {
        type: 'string',
        maxLength: 64,
        description: 'The `confirmation` of the first call, once the user has agreed to what it showed.',
      },
    },
    required: (bodyFields.required ?? []).filter((name) => name !== 'organization_id'),
    additionalProperties: false,
  } satisfies JsonSchema,
};

export type CreateContactResult =
  | { created: false; would_create: Created; confirmation: string; next_step: string }
  | { created: true; answer: Created };

/** Characters of each half of a confirmation. */
const HALF = 24;

/**
 * A confirmation is also the idempotency key of the creation. Its first half identifies the key and the arguments, its second half the
 * result of the dry run. It is looked up before anything is compared: once the contact is created, the same call gets the first response
 * again, whatever a dry run would show now.
 */
export function contactCreator(
  client: Pick<Client, 'call'>,
  apiKey: string,
): (args: Record<string, unknown>) => Promise<CreateContactResult> {
  const digest = (value: object) =>
    createHmac('sha256', apiKey).update(JSON.stringify(value)).digest('hex').slice(0, HALF);
  return async ({ confirmation, ...args }) => {
    const [query, body] = split(args);
    const ofArguments = digest([query, body]);
    const isOwn =
      typeof confirmation === 'string' &&
      /^[0-9a-f]{48}$/.test(confirmation) &&
      confirmation.startsWith(ofArguments);
    const idempotencyKey = isOwn ? confirmation : undefined;
    const create = async (key: string): Promise<CreateContactResult> => ({
      created: true,
      answer: await client.call(PATH, body, { query, idempotencyKey: key }),
    });
    let shown: Created;
    try {
      shown = await client.call(PATH, body, { query: { ...query, dry_run: true }, idempotencyKey });
    } catch (error) {
      // A key with a stored response accepts no other request, such as a dry run.
      if (idempotencyKey === undefined || codeOf(error) !== 'idempotency_key_reused') throw error;
      return create(idempotencyKey);
    }
    const expected = ofArguments + digest([query, body, stableFields(shown)]);
    if (confirmation === expected) return create(expected);
    const next_step =
      confirmation === undefined
        ? 'Nothing was written. Show this to the user; when they agree, call again with the confirmation.'
        : 'Nothing was written: the confirmation does not belong to what would be created now. Show this to the user again.';
    return { created: false, would_create: shown, confirmation: expected, next_step };
  };
}

/** Error code of a response of the gateway, or of an operation in this process. */
const codeOf = (error: unknown): string | undefined =>
  error instanceof ReachlineProblem || error instanceof Problem ? error.code : undefined;

/** Query parameters and body, with fields in a fixed order. */
function split(args: Record<string, unknown>) {
  const sorted = Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1));
  const isQuery = ([name]: [string, unknown]) => name in queryProperties;
  return [
    Object.fromEntries(sorted.filter(isQuery)),
    Object.fromEntries(sorted.filter((entry) => !isQuery(entry))) as RequestOf<typeof PATH>,
  ] as const;
}

/** Fields of a dry run that are the same in every run; ids and times are not. */
function stableFields({ credits_consumed, credit_balance, duplicates, contact }: Created): object {
  const { id, contact_id, created_at, updated_at, ...fields } =
    contact ?? ({} as NonNullable<typeof contact>);
  return { credits_consumed, credit_balance, duplicates, fields };
}
