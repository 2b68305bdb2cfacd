// Reads {policies, requests} as JSON from stdin and writes, for each request, whether IAM would allow it.
// The first argument is the folder whose node_modules has the simulator.

import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const { runSimulation } = createRequire(join(process.argv[2], "package.json"))("@cloud-copilot/iam-simulate");
const { account, policies, requests } = JSON.parse(await text(process.stdin));

const decisions = [];
for (const { action, resource, context, resourcePolicy } of requests) {
  const simulated = await runSimulation(
    {
      request: {
        principal: `arn:aws:iam::${account}:role/tested`,
        action,
        resource: { resource, accountId: account },
        contextVariables: context,
      },
      identityPolicies: policies.map((policy, number) => ({ name: `policy-${number}`, policy })),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      resourcePolicy,
    },
    {},
  );
  if (simulated.resultType === "error") {
    throw new Error(`${action} on ${resource}: ${JSON.stringify(simulated.errors)}`);
  }
  decisions.push(simulated.overallResult === "Allowed");
}
console.log(JSON.stringify(decisions));
