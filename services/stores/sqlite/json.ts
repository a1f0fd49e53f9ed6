/** The JSON of a T. Workers send text, so that the main thread parses once and clones nothing. */
export type Json<T> = string & { readonly json?: T };

export function toJson<T>(value: T): Json<T> {
  return JSON.stringify(value);
}

export function fromJson<T>(json: Json<T>): T {
  return JSON.parse(json) as T;
}
