/** JSON Schemas as TypeScript types with their descriptions. */
interface Schema {
  $id?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

const TYPES: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Writes types. A schema with an `$id` becomes an interface of that name. */
export class TypeWriter {
  readonly #interfaces = new Map<string, string>();

  get interfaces(): string {
    return [...this.#interfaces.values()].join('\n');
  }

  typeOf(schema: object, indent = ''): string {
    const { $id, description, ...rest } = schema as Schema;
    if ($id === undefined) return this.#inline(rest, indent);
    if (!this.#interfaces.has($id)) {
      this.#interfaces.set($id, '');
      this.#interfaces.set(
        $id,
        `${comment(description, '')}export interface ${$id} ${this.#inline(rest, '')}\n`,
      );
    }
    return $id;
  }

  #inline(schema: Schema, indent: string): string {
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (schema.anyOf) return schema.anyOf.map((variant) => this.typeOf(variant, indent)).join(' | ');
    return [schema.type ?? 'unknown']
      .flat()
      .map((type) => {
        if (type === 'array') return `ReadonlyArray<${this.typeOf(schema.items ?? {}, indent)}>`;
        if (type === 'object' && schema.properties) return this.#object(schema, indent);
        return TYPES[type] ?? (type === 'object' ? 'Record<string, unknown>' : 'unknown');
      })
      .join(' | ');
  }

  #object({ properties = {}, required = [] }: Schema, indent: string): string {
    const inner = `${indent}  `;
    const fields = Object.entries(properties).map(([name, schema]) => {
      const isRequired = required.includes(name);
      const type = this.typeOf(schema, inner);
      return `${comment(schema.description, inner)}${inner}${JSON.stringify(name)}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};\n`;
    });
    return `{\n${fields.join('')}${indent}}`;
  }
}

const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '*\\/')} */\n`;
