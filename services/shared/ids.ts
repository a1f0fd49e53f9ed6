import { hash, randomUUID } from 'node:crypto';

/** Pattern of ids, whoever created them (contract 3.1). */
export const ID_PATTERN = '^[A-Za-z0-9._:-]{1,128}$';

const anId = new RegExp(ID_PATTERN);

export const isId = (text: string): boolean => anId.test(text);

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

function base32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += CROCKFORD[(buffer >>> bits) & 31];
    }
    buffer &= (1 << bits) - 1;
  }
  if (bits > 0) text += CROCKFORD[(buffer << (5 - bits)) & 31];
  return text;
}

/**
 * A time-ordered id: `prefix_` and a UUIDv7 in 26 characters of base32. Ids sort by creation time to the millisecond, then by `sequence`, a
 * safe integer from 0, if a sequence is given.
 */
export function newId(
  prefix: 'con' | 'aud' | 'rej' | 'req' | 'era' | 'job',
  now: number = Date.now(),
  sequence?: number,
): string {
  // Node.js keeps a reserve of random bytes for `randomUUID`; asking the operating system each time takes four times as long.
  const bytes = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
  bytes[0] = now / 2 ** 40;
  bytes[1] = now / 2 ** 32;
  bytes[2] = now / 2 ** 24;
  bytes[3] = now / 2 ** 16;
  bytes[4] = now / 2 ** 8;
  bytes[5] = now;
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  if (sequence !== undefined) {
    // The sequence takes 53 bits, which leaves two random bytes.
    bytes[6] = 0x70;
    bytes.writeUIntBE(Math.floor(sequence / 2 ** 32), 7, 3);
    bytes.writeUInt32BE(sequence % 2 ** 32, 10);
  }
  return `${prefix}_${base32(bytes)}`;
}

/** The id of the company with a normalized domain. The id is the same within an organization, and different in other organizations. */
export function companyId(organizationId: string, domain: string): string {
  const digest = hash('sha256', `${organizationId}\n${domain}`, 'buffer');
  return `com_${base32(digest.subarray(0, 16))}`;
}
