import { expect } from 'chai';
import { plantedSource } from '../planted/build.js';
import { PLANTED_FAULTS } from '../planted/faults.js';

describe('The faults that are planted for the driver of the console', () => {
  it('are each of a text that its file has once', () => {
    for (const fault of PLANTED_FAULTS) expect(plantedSource(fault), fault.name).to.include(fault.after);
  });

  it('are at least three for each property', () => {
    for (const property of ['request', 'act', 'session', 'sum'])
      expect(PLANTED_FAULTS.filter(({ breaks }) => breaks === property).length, property).to.be.at.least(3);
  });
});
