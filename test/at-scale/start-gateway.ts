import { type StartGateway, startTestGateway } from '../support/gateway.js';
import { testIndices } from './elasticsearch/support.js';

/** A gateway on the servers of the environment, with indices of its own. */
export const startAtScaleGateway: StartGateway = async (settings, clock) => {
  const indices = testIndices();
  const gateway = await startTestGateway({ ...settings, elasticsearch: indices.config }, clock);
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await indices.remove();
    },
  };
};
