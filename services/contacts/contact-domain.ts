import { domainOf } from '../search/normalize.js';
import type { ContactBody } from './stored-contact.js';

/** The domain by which a contact belongs to a company: its company domain, else that of its first work email. In the form of 3.8. */
export function contactDomain({
  company_domain: own,
  work_emails: emails,
}: Pick<ContactBody, 'company_domain' | 'work_emails'>): string | null {
  const domain = own === null ? null : domainOf(own);
  if (domain !== null) return domain;
  for (const email of emails) {
    const host = domainOf(email.slice(email.lastIndexOf('@') + 1));
    if (host !== null) return host;
  }
  return null;
}
