import { requireId, withAccounts } from '../accounts.js';
import { type Io, say, tell } from '../io.js';

/** Makes the organization metered, and prints its balance. */
export async function setCredits(io: Io, organization: string, amount: number): Promise<void> {
  requireId('--organization', organization);
  await withAccounts(io, (accounts) => accounts.setCredits(organization, amount));
  say(io, String(amount));
}

/** Prints the new balance. */
export async function grantCredits(io: Io, organization: string, amount: number): Promise<void> {
  requireId('--organization', organization);
  say(io, String(await withAccounts(io, (accounts) => accounts.grantCredits(organization, amount))));
}

export async function showCredits(io: Io, organization: string): Promise<void> {
  requireId('--organization', organization);
  const balance = await withAccounts(io, (accounts) => accounts.getCredits(organization));
  say(io, balance === null ? 'unmetered' : String(balance));
  if (balance === null)
    tell(io, `Set a balance with: reachline credits set --organization ${organization} <amount>`);
}
