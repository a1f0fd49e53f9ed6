/** SQL as an operation of the API; what a statement may do is tested at the endpoint, which runs it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useGateway } from '../support/gateway.js';
import { problemFaults } from '../support/schema-check.js';
import { tempFolder } from '../support/temp-folder.js';

describe('The operation /api/sql', () => {
  const gateway = useGateway(async ({ ingest, keyFor }) => {
    await ingest('contacts', [{ contact_id: 'ours' }]);
    for (const key of [undefined, await keyFor('org_b')]) {
      await ingest('contacts', [{ contact_id: 'a' }], { key });
      await ingest('network-a-campaigns', [{ id: 'c' }], { key });
    }
  });
  const ask = (statement: string, more: object = {}, key?: string) =>
    gateway.call('/api/sql', { statement, ...more }, { key });

  it('answers columns and rows of people and figures of the organization of the key, with parameters', async () => {
    const { body } = await ask(
      `SELECT (SELECT count() FROM contacts) AS people, {name:String} AS name, toDecimal64('1.50', 2) AS money,
        {organization:String} AS organization, countIf(organization_id != {organization:String}) AS others
       FROM campaigns`,
      { parameters: { name: "O'Hara\t\\n" } },
    );
    expect(body.columns, JSON.stringify(body)).to.deep.equal([
      { name: 'people', type: 'Nullable(UInt64)' },
      { name: 'name', type: 'String' },
      { name: 'money', type: 'Decimal(18, 2)' },
      { name: 'organization', type: 'String' },
      { name: 'others', type: 'UInt64' },
    ]);
    expect(body.rows).to.deep.equal([[2, "O'Hara\t\\n", '1.5', 'org_a', 0]]);
    expect(body.truncated).to.equal(false);
  });

  it('answers integers that no number of JSON holds as text, and all others as numbers', async () => {
    const { body } = await ask(
      `SELECT toUInt64(9007199254740993) AS a, toInt64(-9223372036854775808) AS b, [toUInt64(7), 18446744073709551615] AS c,
        toInt256('-123456789012345678901234567890') AS d, 9007199254740991 AS e, '{"a":12345678901234567890}' AS f,
        0.12345678901234568 AS g, 1e300 AS h, map('"9007199254740993', 9007199254740993) AS i`,
    );
    expect(body.rows).to.deep.equal([
      [
        ...['9007199254740993', '-9223372036854775808', [7, '18446744073709551615']],
        ...['-123456789012345678901234567890', 9007199254740991, '{"a":12345678901234567890}'],
        ...[0.12345678901234568, 1e300, { '"9007199254740993': '9007199254740993' }],
      ],
    ]);
    const long = await ask(`SELECT repeat('\\\\"', 1000000) AS text, 9007199254740993 AS number`);
    expect(long.body.rows).to.deep.equal([['\\"'.repeat(1_000_000), '9007199254740993']]);
    const digits = await ask(
      "SELECT arrayStringConcat(arrayMap(x -> repeat('1', 1000000), range(7))) AS text",
    );
    expect(digits.body.rows).to.deep.equal([['1'.repeat(7_000_000)]]);
    const many = await ask('SELECT arrayMap(x -> x + 9007199254740993, range(100000)) AS numbers');
    const [[numbers = []] = []] = many.body.rows as string[][][];
    expect([numbers.length, numbers[0], numbers.at(-1)]).to.deep.equal([
      100_000,
      '9007199254740993',
      '9007199254840992',
    ]);
  });

  it('answers as many rows as asked for, and says when there are more', async () => {
    const statement = 'SELECT number FROM numbers(5)';
    expect((await ask(statement, { limit: 5 })).body).to.deep.include({ truncated: false });
    const { body } = await ask(statement, { limit: 2 });
    expect(body).to.deep.include({ rows: [[0], [1]], truncated: true });
  });

  it('refuses what the endpoint refuses, and names what is wrong with a statement', async () => {
    const refused: [statement: string, detail: RegExp][] = [
      ['SELEC 1', /^Syntax error/],
      ['SELECT nothing FROM contacts', /^Unknown expression.*nothing/],
      ['SELECT 1 FORMAT CSV', /Leave FORMAT out/],
      ['DROP TABLE campaigns', /readonly mode/],
      [`SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')`, /table function url/],
      ["SELECT repeat('x', 1000000) FROM numbers(20)", /result/i],
    ];
    for (const [statement, detail] of refused) {
      const answer = await ask(statement);
      expect(problemFaults(422, answer.body)).to.deep.equal([]);
      expect(answer.body, statement).to.include({ code: 'invalid_sql' });
      expect(answer.body.detail, statement).to.match(detail);
    }
  });

  it('writes no file, whatever hides the clause from who does not read quotes as the engine does', async () => {
    const target = join(tempFolder(), 'target.js');
    writeFileSync(target, 'as it was');
    const into = `INTO OUTFILE '${target}\\0\\'' TRUNCATE`;
    for (const type of [
      "Enum8(‘a'b’ = 1)",
      "Enum8(“a'b” = 1)",
      "String /*'*/",
      "String --'\n",
      "T(x'\\')",
      "Enum8('a' = 1)",
    ])
      for (const end of [into, `${into} FORMAT TSVRaw`, `INTO OUTFILE '${target}' TRUNCATE`]) {
        const statement = `SELECT 'owned' WHERE toUInt8({x:${type}}) ${end}`;
        for (const whole of [
          statement,
          `EXPLAIN AST ${statement}`,
          `(${statement})`,
          `DESCRIBE (${statement})`,
        ]) {
          const { status, body } = await ask(whole, { parameters: { x: "a'b" } });
          expect(status, `${whole} ${JSON.stringify(body)}`).to.equal(422);
          expect(readFileSync(target, 'utf8'), whole).to.equal('as it was');
        }
      }
    const absent = join(tempFolder(), 'absent');
    for (const whole of [
      `DESCRIBE TABLE campaigns INTO OUTFILE '${absent}'`,
      `DESCRIBE TABLE (SELECT 1) INTO OUTFILE '${absent}'`,
      `SHOW TABLES INTO OUTFILE '${absent}'`,
      `((SELECT 1 INTO OUTFILE '${absent}'))`,
    ])
      expect((await ask(whole)).status, whole).to.equal(422);
    expect(existsSync(absent)).to.equal(false);
  });

  it('passes no function by name that it would refuse, and no pattern without its length', async () => {
    const refused: [statement: string, parameters?: Record<string, string>][] = [
      ["SELECT arrayMap(file, ['/etc/hostname'])"],
      ["SELECT arrayMap(`file`, ['/etc/hostname'])"],
      ["SELECT arrayMap((file) AS g, ['/etc/hostname'])"],
      ["SELECT arrayMap({f:Identifier}, ['/etc/hostname'])", { f: 'file' }],
      ["SELECT arrayMap({f:Identifier}, ['/etc/hostname'])", { f: '`file`' }],
      ["SELECT arrayMap(getServerSetting, ['path'])"],
      ["SELECT arrayMap(match, ['a'], [repeat('a?', 9)])"],
      ["SELECT arrayFilter(editDistance, ['a'], ['b'])"],
      [
        `SELECT match(\`q\n      Literal x\`, repeat('a?', 30000)) FROM (SELECT 'aaa' AS \`q\n      Literal x\`)`,
      ],
      ["SELECT match({f:Identifier}, repeat('a?', 30000))", { f: 'q\n        Literal x' }],
      ["SELECT position(materialize(repeat('a', 9)), materialize(repeat('a', 9)))"],
      ["SELECT countSubstrings('aaa', repeat('a', 9))"],
      ["SELECT replaceAll('aaa', repeat('a', 9), '')"],
      ['SELECT hasAll(range(9), range(9))'],
    ];
    for (const [statement, parameters] of refused) {
      const { status, body } = await ask(statement, parameters && { parameters });
      expect(status, `${statement} ${JSON.stringify(body)}`).to.equal(422);
      expect(body.detail, statement).to.match(/^Not allowed here/);
    }
    const { body } = await ask(
      "SELECT arrayMap(lower, ['A']), position('abc', {b:String}), replaceAll('aa', 'a', 'b'), hasAny([1, 2], [2]), position FROM (SELECT 1 AS position) WHERE position = 1",
      { parameters: { b: 'c' } },
    );
    expect(body.rows, JSON.stringify(body)).to.deep.equal([[['a'], 3, 'bb', 1, 1]]);
  });

  const HOSTILE_NAMES = [
    'x = 1; SYSTEM FLUSH LOGS; SET param_y',
    'x = 1, additional_table_filters',
    'x = 1, readonly = 0, param_y',
    "x'",
    'x`',
    'x y',
    'x\ny',
    'x\u0000y',
    'x/**/',
    'x--',
    '1x',
    '',
    'é',
    '__proto__.x',
    'x'.repeat(65),
    'x'.repeat(65_536),
  ];
  for (const name of HOSTILE_NAMES) {
    it(`refuses a parameter named ${JSON.stringify(name.slice(0, 48))}, and names it`, async () => {
      const { status, body } = await ask('SELECT DISTINCT organization_id FROM campaigns', {
        parameters: { [name]: '1' },
      });
      expect(status, JSON.stringify(body)).to.equal(422);
      expect(problemFaults(422, body)).to.deep.equal([]);
      const pointer = `/parameters/${name.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1')}`;
      expect(body.errors).to.deep.equal([
        {
          pointer,
          code: 'invalid_name',
          detail: body.detail,
        },
      ]);
      expect(body.code).to.equal('validation_failed');
    });
  }

  it('binds parameters whose names objects have by themselves', async () => {
    const parameters = { constructor: 'a', toString: 'b', hasOwnProperty: 'c' };
    const { body } = await ask(
      'SELECT {constructor:String} AS a, {toString:String} AS b, {hasOwnProperty:String} AS c',
      { parameters },
    );
    expect(body.rows, JSON.stringify(body)).to.deep.equal([['a', 'b', 'c']]);
  });

  it('binds times with a zone, and takes no other type with quotes', async () => {
    const parameters = { t: '2026-11-03 10:00:00' };
    const statement = `SELECT toString({t:DateTime('UTC')}) AS a, toString({t:DateTime64(3, 'Europe/Berlin')}) AS b,
      toString({t:Nullable(DateTime('Etc/GMT+5'))}) AS c`;
    const { body } = await ask(statement, { parameters });
    expect(body.rows, JSON.stringify(body)).to.deep.equal([
      ['2026-11-03 10:00:00', '2026-11-03 10:00:00.000', '2026-11-03 10:00:00'],
    ]);
    for (const type of [
      "Enum8('a' = 1)",
      "DateTime('UTC'), 'x'",
      "DateTime('U TC')",
      "DateTime('U\\'TC')",
      "DateTime('UTC;')",
      "DateTime('--')",
      "DateTime('')",
      "Tuple(a DateTime('UTC'))",
      "DateTime64(3, 'UTC', 'x')",
    ]) {
      const refused = await ask(`SELECT {t:${type}}`, { parameters });
      expect(refused.status, type).to.equal(422);
    }
  });

  it('takes at most 50 parameters, whose values have at most 1024 characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`p${index}`, '1']));
    expect((await ask('SELECT 1', { parameters: many })).body).to.include({ code: 'validation_failed' });
    const long = await ask('SELECT 1', { parameters: { p: 'x'.repeat(1025) } });
    expect(long.body).to.have.nested.property('errors[0].pointer', '/parameters/p');
    expect(long.body).to.have.nested.property('errors[0].code', 'too_long');
  });
});
