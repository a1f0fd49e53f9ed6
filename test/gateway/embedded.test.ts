import { startTestGateway } from '../support/gateway.js';
import { gatewayContract } from './suites/index.js';
import { randomRequests } from './suites/random-requests.js';

gatewayContract('embedded stores', startTestGateway);
randomRequests(25)(startTestGateway);
