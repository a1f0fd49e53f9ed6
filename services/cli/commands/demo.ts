import { DEMO_ORGANIZATION } from '../../demo/calendar.js';
import { loadConfig } from '../../shared/config.js';
import { openStores } from '../../stores/open-stores.js';
import { type Io, say, tell } from '../io.js';
import { loadSample } from '../sample.js';

/** Loads the sample data beside what there is, and prints a key for it. */
export async function demo(io: Io): Promise<void> {
  const stores = await openStores(loadConfig(io.env));
  try {
    const key = await loadSample(io, stores, false);
    if (key === null) {
      tell(
        io,
        `The sample data is there already. For a key: reachline keys create --organization ${DEMO_ORGANIZATION}`,
      );
      return;
    }
    say(io, key);
    tell(
      io,
      `This key is for the organization ${DEMO_ORGANIZATION}; it is shown only once. Now run: reachline serve`,
    );
  } finally {
    await stores.close();
  }
}
