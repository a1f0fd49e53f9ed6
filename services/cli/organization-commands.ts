/** Commands for one organization: its keys, credits, audiences and contacts. */
import { Argument } from 'commander';
import type { Io } from './io.js';
import { identifier, positiveNumber, type ReachlineCommand, wholeNumber } from './options.js';

export function addKeys(program: ReachlineCommand, io: Io): void {
  const keys = program.add('keys', 'create, list and revoke API keys');
  keys
    .add('create', 'create a key and print it; it is shown only once')
    .requiredOption('--organization <id>', 'organization', identifier)
    .option('--name <text>', 'what the key is for')
    .option(
      '--scopes <scopes>',
      'scopes separated by commas, or * for all (default: all except ingest:write and contacts:erase)',
    )
    .option('--expires <date-time>', 'time of expiry, such as 2027-01-31T00:00:00Z')
    .examples(
      'KEY=$(reachline keys create --organization org_acme)',
      'reachline keys create --organization org_acme --name loader --scopes ingest:write',
    )
    .action(async (options) => (await import('./commands/keys.js')).createKey(io, options));
  keys
    .add('list', 'list keys, newest first, with the hour of their last use, without secrets')
    .option('--organization <id>', 'only the keys of this organization', identifier)
    .option('--json', 'print one JSON object per line')
    .examples('reachline keys list --organization org_acme', 'reachline keys list --json | jq -r .id')
    .action(async (options) => (await import('./commands/keys.js')).listKeys(io, options));
  keys
    .add('revoke', 'revoke a key; every process rejects it within 5 seconds')
    .argument('<key id>', 'the 8 characters after rl_live_')
    .option(
      '--keep-descendants',
      'keep the keys that were created with this key; by default they are revoked too',
    )
    .option('--yes', 'do not ask for confirmation on a terminal')
    .examples('reachline keys revoke 4fK9aQ2z', 'reachline keys revoke 4fK9aQ2z --yes')
    .action(async (id, options) => (await import('./commands/keys.js')).revokeKey(io, id, options));
}

export function addAudiences(program: ReachlineCommand, io: Io): void {
  const audiences = program.add('audiences', 'create and list audiences');
  audiences
    .add('create', 'create an audience and print its id')
    .requiredOption('--organization <id>', 'organization', identifier)
    .requiredOption('--name <name>', 'name of the audience')
    .option('--id <id>', 'identifier of the audience (default: generated)', identifier)
    .option('--description <text>', 'purpose of the audience')
    .examples('reachline audiences create --organization org_acme --name "Trial users"')
    .action(async (options) => (await import('./commands/audiences.js')).create(io, options));
  audiences
    .add('list', 'list audiences, newest first')
    .requiredOption('--organization <id>', 'organization', identifier)
    .option('--limit <number>', 'maximum number to list', positiveNumber, 100)
    .option('--json', 'print one JSON object per line')
    .examples('reachline audiences list --organization org_acme')
    .action(async (options) => (await import('./commands/audiences.js')).listAudiences(io, options));
}

export function addContacts(program: ReachlineCommand, io: Io): void {
  const contacts = program.add('contacts', 'delete, erase and export the contacts of one person');
  const command = (name: string, description: string) =>
    contacts
      .command(name)
      .description(description)
      .option('--organization <id>', 'organization', identifier)
      .option('--url <base>', 'use this gateway instead of the data folder (or REACHLINE_URL)')
      .option('--api-key <key>', 'key for --url (better REACHLINE_API_KEY, hidden from ps)');
  const personCommand = (name: string, description: string) =>
    command(name, description)
      .option('--id <id>', 'the contact with this id')
      .option('--email <address>', 'every contact with this work or personal email')
      .option('--profile <url>', 'every contact with this profile address');
  personCommand('delete', 'delete contacts; a newer record creates them again')
    .option('--dry-run', 'print the contacts that would be deleted, and delete nothing')
    .option('--yes', 'do not ask for confirmation on a terminal')
    .examples(
      'reachline contacts delete --organization org_acme --id con_0001',
      'reachline contacts delete --organization org_acme --email ada@example.com --dry-run',
    )
    .action(async (options) => (await import('./commands/contacts.js')).deleteContacts(io, options));
  personCommand('erase', 'remove a person from every file, and reject later records of the person')
    .option('--dry-run', 'print the contacts that would be erased, and erase nothing')
    .option('--yes', 'do not ask for confirmation on a terminal')
    .notes(`
Cannot be undone. Prints what was erased, and a proof without personal data, which contacts erasures prints again. Reachline keeps
salted hashes of the id, emails and profile address, so that it can reject later records of the person.
`)
    .examples('reachline contacts erase --organization org_acme --email ada@example.com --dry-run')
    .action(async (options) => (await import('./commands/contacts.js')).eraseContacts(io, options));
  command('erasures', 'print the proofs of erasures, one JSON object per line')
    .examples('reachline contacts erasures --organization org_acme')
    .action(async (options) => (await import('./commands/contacts.js')).listErasures(io, options));
  personCommand('export-person', 'print all stored data about a person as JSON')
    .examples('reachline contacts export-person --organization org_acme --email ada@example.com')
    .action(async (options) => (await import('./commands/contacts.js')).exportPerson(io, options));
}

export function addImports(program: ReachlineCommand, io: Io): void {
  const imports = program.add('imports', 'list imports of contacts, and undo one');
  const command = (name: string, description: string) =>
    imports
      .command(name)
      .description(description)
      .option('--organization <id>', 'organization', identifier)
      .option('--url <base>', 'use this gateway instead of the data folder (or REACHLINE_URL)')
      .option('--api-key <key>', 'key for --url (better REACHLINE_API_KEY, hidden from ps)');
  command('list', 'list the 100 newest imports, with the number of their contacts')
    .option('--json', 'print one JSON object per line')
    .examples('reachline imports list --organization org_acme')
    .action(async (options) => (await import('./commands/imports.js')).listImports(io, options));
  command('undo', 'delete the contacts that an import created and that nobody has changed since')
    .argument('<import id>', 'the import, as imports list shows it')
    .option('--yes', 'do not ask for confirmation on a terminal')
    .examples('reachline imports undo webinar-2026-11 --organization org_acme')
    .action(async (id, options) => (await import('./commands/imports.js')).undoImport(io, id, options));
}

export function addCredits(program: ReachlineCommand, io: Io): void {
  const credits = program.add(
    'credits',
    'set, grant and show the credits of an organization, which creating contacts costs',
  );
  const amount = () => new Argument('<amount>', 'a whole number, 0 or more').argParser(wholeNumber);
  credits
    .add('set', 'set the balance; the organization becomes metered')
    .requiredOption('--organization <id>', 'organization', identifier)
    .addArgument(amount())
    .examples('reachline credits set --organization org_acme 500')
    .action(async (value, { organization }) =>
      (await import('./commands/credits.js')).setCredits(io, organization, value),
    );
  credits
    .add('grant', 'add to the balance')
    .requiredOption('--organization <id>', 'organization', identifier)
    .addArgument(amount())
    .examples('reachline credits grant --organization org_acme 100')
    .action(async (value, { organization }) =>
      (await import('./commands/credits.js')).grantCredits(io, organization, value),
    );
  credits
    .add('show', 'print the balance, or "unmetered"')
    .requiredOption('--organization <id>', 'organization', identifier)
    .examples('reachline credits show --organization org_acme')
    .action(async ({ organization }) =>
      (await import('./commands/credits.js')).showCredits(io, organization),
    );
}
