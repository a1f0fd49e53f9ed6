import { requireId, withAdminStore } from '../admin-stores.js';
import { CommandError } from '../errors.js';
import { type Io, say, tell } from '../io.js';

/** Makes the organization metered, and prints its balance. */
export async function setCredits(io: Io, organization: string, amount: number): Promise<void> {
  requireId('--organization', organization);
  await withAdminStore(io, (store) => store.setCredits(organization, amount));
  say(io, String(amount));
}

/** Prints the new balance. Fails for an unmetered organization, whose requests a balance would begin to refuse. */
export async function grantCredits(io: Io, organization: string, amount: number): Promise<void> {
  requireId('--organization', organization);
  const balance = await withAdminStore(io, (store) => store.grantCredits(organization, amount));
  if (balance === null) {
    throw new CommandError(
      `${organization} is unmetered, and stays so. To meter it, run: reachline credits set --organization ${organization} <amount>`,
    );
  }
  say(io, String(balance));
}

export async function showCredits(io: Io, organization: string): Promise<void> {
  requireId('--organization', organization);
  const balance = await withAdminStore(io, (store) => store.getCredits(organization));
  say(io, balance === null ? 'unmetered' : String(balance));
  if (balance === null)
    tell(io, `Set a balance with: reachline credits set --organization ${organization} <amount>`);
}
