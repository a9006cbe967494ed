import { type Mutant, withCloud, withDriver } from "./mutant.ts";

let lives = 0;

/** Mistakes in what is asked of the cloud, and in what is believed of it. */
export const cloudMutants: Readonly<Record<string, Mutant>> = {
  "vm-deletion-assumed": {
    mistake: "a VM counts as deleted before the cloud has confirmed that",
    profile: "people",
    foundBySeed: 1,
    alteration: () => withDriver(() => ({ deleteMachine: async () => ({ vm: "ended" }) })),
  },
  "vm-of-another-machine": {
    mistake: "the cloud is asked to delete the VM before that of the machine",
    profile: "people",
    foundBySeed: 1,
    alteration() {
      let last: string | undefined;
      return withCloud((cloud) => ({
        async createVm(input, call) {
          const vm = await cloud.createVm(input, call);
          last = vm.id;
          return vm;
        },
        deleteVm: (ref, call) => cloud.deleteVm(last ?? ref, call),
      }));
    },
  },
  "no-idempotency-token": {
    mistake: "each attempt to create a VM has a token of its own",
    profile: "creation",
    foundBySeed: 1,
    alteration() {
      let attempts = 0;
      const life = ++lives;
      return withCloud((cloud) => ({
        createVm: (input, call) => cloud.createVm({ ...input, token: `${input.token}/${life}/${++attempts}` }, call),
      }));
    },
  },
};
