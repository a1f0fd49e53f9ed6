/** Index and query words of texts, email addresses and phone numbers. */
import { compounds, fold, phoneDigits, words } from '../shared/text.js';

/** The words of a text, then its emails and domains. */
export function textWords(text: string): string[] {
  const value = words(text);
  value.push(...compounds(text));
  return value;
}

/** Matches nearly every address, for which `compounds` finds only the address itself. */
const plainEmail = /^[a-z0-9][a-z0-9._+-]*@[a-z0-9.-]*[a-z0-9]$/;

/** The address also counts as one word, and so does its domain. */
export function emailWords(email: string): string[] {
  const whole = emailWord(email);
  const value = words(email);
  if (plainEmail.test(whole) && whole.length === email.length) {
    value.push(whole, whole.slice(whole.indexOf('@') + 1));
    return value;
  }
  const after = new Set([...compounds(email), whole, whole.slice(whole.lastIndexOf('@') + 1)]);
  value.push(...after);
  return value;
}

/** The one word that stands for an email address. */
export function emailWord(email: string): string {
  return fold(email).replace(/\s+/g, '');
}

/** A phone number is one word of digits. North American numbers are also found without their country code, 1. */
export function phoneWords(phone: string): string[] {
  const digits = phoneDigits(phone);
  if (digits === '') return [];
  const national = nationalDigits(digits);
  return national === digits ? [digits] : [digits, national];
}

/** The ten digits of a North American number that was given with its country code, else the digits themselves. */
export function nationalDigits(digits: string): string {
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
}

/** The words of a postal code, and all of it as one: "SW1A 1AA" is also found as "sw1a1aa". */
export function postalCodeWords(text: string): string[] {
  const value = words(text);
  if (value.length > 1) value.push(value.join(''));
  return value;
}
