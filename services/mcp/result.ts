/** Results of tools: the responses of operations, without what a model would pay for and not use. */

type Json = Record<string, unknown>;

/** Fields that no question needs: the organization is that of the key, and a model opens no images. */
const DROPPED = new Set(
  'organization_id organizationId data_import_id person_image_url company_image_url logo_url image_url'.split(
    ' ',
  ),
);

/** Maximum characters of a result, about 15 000 tokens. */
export const MAX_RESULT_CHARACTERS = 60_000;

export interface ResultOptions {
  /** Whether the call asked for series. */
  hasSeries: boolean;
}

/** JSON of a result without null fields and the fields above. Null items of lists stay, and so do empty lists of the result itself. */
export function resultText(value: object, { hasSeries }: ResultOptions): string {
  return JSON.stringify(value, function (this: Json, name, field: unknown) {
    if (Array.isArray(this)) return field;
    if (field === null || DROPPED.has(name)) return undefined;
    if (name === 'timeseries' && !hasSeries) return undefined;
    // The other name of the same id.
    if (name === 'id' && field === this.contact_id) return undefined;
    // Leaves out empty lists of items, which have an id. An empty list of results stays, because it is the answer.
    if (Array.isArray(field) && field.length === 0 && ('id' in this || 'contact_id' in this))
      return undefined;
    return field;
  });
}
