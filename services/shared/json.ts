/** The JSON of a T. Stores return records as JSON text, so that responses are made without parsing. */
export type Json<T> = string & { readonly json?: T };

export function toJson<T>(value: T): Json<T> {
  return JSON.stringify(value);
}

export function fromJson<T>(json: Json<T>): T {
  return JSON.parse(json) as T;
}

/** Whether a parsed value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON text that stands in place of a T in a response. */
export class JsonText<T> {
  readonly text: Json<T>;

  constructor(text: Json<T>) {
    this.text = text;
  }
}

export function jsonArray<T>(items: readonly Json<T>[]): JsonText<T[]> {
  return new JsonText(`[${items.join(',')}]`);
}
