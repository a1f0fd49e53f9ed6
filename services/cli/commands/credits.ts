import { withAdminStore } from '../admin-stores.js';
import { CommandError } from '../errors.js';
import { type Io, printErr, printOut } from '../io.js';

/** Makes the organization metered, and prints its balance. */
export async function setCredits(io: Io, organization: string, amount: number): Promise<void> {
  await withAdminStore(io, (store) => store.setCredits(organization, amount));
  printOut(io, String(amount));
}

/** Prints the new balance. Fails for an unmetered organization: with a balance, its requests might be rejected. */
export async function grantCredits(io: Io, organization: string, amount: number): Promise<void> {
  const balance = await withAdminStore(io, (store) => store.grantCredits(organization, amount));
  if (balance === null) {
    throw new CommandError(
      `${organization} is unmetered and stays unmetered. To meter it, run: reachline credits set --organization ${organization} <amount>`,
    );
  }
  printOut(io, String(balance));
}

export async function showCredits(io: Io, organization: string): Promise<void> {
  const balance = await withAdminStore(io, (store) => store.getCredits(organization));
  printOut(io, balance === null ? 'unmetered' : String(balance));
  if (balance === null)
    printErr(io, `Set a balance with: reachline credits set --organization ${organization} <amount>`);
}
