// Node's @kubernetes/client-node against a running Meridian: node kube_node.mjs KUBECONFIG S3-OUTPUT
//
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url); // honours NODE_PATH
const k8s = await import(require.resolve("@kubernetes/client-node"));

const [kubeconfig, s3OutputPath] = process.argv.slice(2);
const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfig);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const core = config.makeApiClient(k8s.CoreV1Api);

const group = "sagemaker.aws.amazon.com", version = "v1", plural = "trainingjobs", namespace = "default";
const kind = { group, version, namespace, plural };
const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
const job = (name, program, labels = {}) => ({
  apiVersion: `${group}/${version}`, kind: "TrainingJob", metadata: { name, namespace, labels },
  spec: {
    region: process.env.AWS_REGION, roleArn: "arn:aws:iam::000000000000:role/meridian",
    algorithmSpecification: {
      trainingImage: "host", trainingInputMode: "File", containerEntrypoint: ["/bin/sh", "-c", program] },
    outputDataConfig: { s3OutputPath },
    resourceConfig: { instanceCount: 1, instanceType: "ml.m5.large", volumeSizeInGB: 5 },
    stoppingCondition: { maxRuntimeInSeconds: 600 },
  },
});
const refused = async (code, call) => {
  const error = await call.then(() => assert.fail(`not refused with ${code}`), (e) => e);
  assert.equal(error.code, code, String(error));
  return typeof error.body === "string" ? JSON.parse(error.body) : error.body;
};
const named = (list) => list.items.map((item) => item.metadata.name).sort();

// Until `seen(object, phase)` of a watched object holds: the watch's own way to wait.
const until = (what, query, seen, seconds = 120) => new Promise((resolve, reject) => {
  let watching;
  const end = (settle, value) => { clearTimeout(clock); watching?.then((w) => w.abort()); settle(value); };
  const clock = setTimeout(() => end(reject, new Error(`${what}: not seen within ${seconds} s`)), seconds * 1000);
  watching = new k8s.Watch(config).watch(path, query, (phase, object) => {
    if (seen(object, phase)) end(resolve, object);
  }, (error) => { if (error && error.name !== "AbortError") end(reject, error); });
});
const condition = (object, type) => object.status?.conditions?.find((c) => c.type === type && c.status === "True");

// What there is: group, kind and its verbs by discovery; both clients list nothing yet.
const groups = (await config.makeApiClient(k8s.ApisApi).getAPIVersions()).groups.map((g) => g.name);
assert.ok(groups.includes(group), groups.join());
assert.deepEqual(named(await custom.listNamespacedCustomObject(kind)), []);

// An informer that is there from the start sees all that follows.
const events = [];
const informer = k8s.makeInformer(config, path, () => custom.listNamespacedCustomObject(kind));
for (const verb of ["add", "update", "delete"]) informer.on(verb, (o) => events.push(`${verb} ${o.metadata.name}`));
await informer.start();

// Created by one client, completed by the operators, seen by a watch from the version of the creation.
const created = await objects.create(job("by-node", "echo trained > /opt/ml/model/m", { team: "node" }));
assert.ok(created.metadata.uid);
assert.equal((await refused(409, objects.create(job("by-node", "true")))).reason, "AlreadyExists");
const since = { resourceVersion: created.metadata.resourceVersion, allowWatchBookmarks: true };
const done = await until("by-node completed", since, (o) => o.metadata.name === "by-node" && condition(o, "Complete"));
assert.equal(done.status.trainingJobStatus, "Completed");

// What the definition does not allow is refused with the field.
const wrong = job("wrong", "true");
wrong.spec.resourceConfig.instanceCount = "many";
const invalid = await refused(422, custom.createNamespacedCustomObject({ ...kind, body: wrong }));
assert.match(invalid.message, /spec\.resourceConfig\.instanceCount/);

// Lists: by label, by field, in pages.
await custom.createNamespacedCustomObject({ ...kind, body: job("long", "sleep 600", { team: "other" }) });
assert.deepEqual(named(await custom.listNamespacedCustomObject({ ...kind, labelSelector: "team=node" })), ["by-node"]);
assert.deepEqual(named(await custom.listNamespacedCustomObject({ ...kind, fieldSelector: "metadata.name=long" })), ["long"]);
const first = await custom.listNamespacedCustomObject({ ...kind, limit: 1 });
const second = await custom.listNamespacedCustomObject({ ...kind, limit: 1, _continue: first.metadata._continue ?? first.metadata.continue });
assert.deepEqual([...named(first), ...named(second)], ["by-node", "long"]);
assert.deepEqual(named(await objects.list(`${group}/${version}`, "TrainingJob", namespace)), ["by-node", "long"]);

// All four patches.
const header = { apiVersion: `${group}/${version}`, kind: "TrainingJob", metadata: { name: "by-node", namespace } };
const patched = (change, strategy, more = {}) =>
  objects.patch({ ...header, metadata: { ...header.metadata, ...change }, ...more }, undefined, undefined, "node", undefined, strategy);
assert.equal((await patched({ annotations: { a: "1" } }, k8s.PatchStrategy.MergePatch)).metadata.annotations.a, "1");
assert.equal((await patched({ annotations: { b: "2" } }, k8s.PatchStrategy.ServerSideApply)).metadata.annotations.b, "2");
const json = await custom.patchNamespacedCustomObject(
  { ...kind, name: "by-node", body: [{ op: "replace", path: "/metadata/labels/team", value: "web" }] },
  k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.JsonPatch));
assert.equal(json.metadata.labels.team, "web");
await refused(415, patched({ annotations: { c: "3" } }, k8s.PatchStrategy.StrategicMergePatch)); // no custom resource has it
const read = await objects.read(header);
assert.deepEqual([read.metadata.annotations.a, read.metadata.annotations.b], ["1", "2"]);

// A replacement with an old version loses.
const stale = structuredClone(read);
read.metadata.labels.team = "first";
await objects.replace(read);
assert.equal((await refused(409, objects.replace(stale))).reason, "Conflict");

// A resource is deleted: its running job is stopped first, one that is over is left alone.
await until("long in progress", {}, (o) => o.metadata.name === "long" && o.status?.trainingJobStatus === "InProgress");
for (const name of ["long", "by-node"]) {
  const one = { ...header, metadata: { name, namespace } };
  const gone = until(`${name} deleted`, {}, (o, phase) => phase === "DELETED" && o.metadata.name === name);
  await objects.delete(one);
  await gone;
  await refused(404, objects.read(one));
}
await informer.stop();
for (const seen of ["add by-node", "update by-node", "delete by-node", "delete long"]) assert.ok(events.includes(seen), events.join());

// The core kinds: a config map, and the events of the job.
await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "settings" }, data: { epochs: "3" } } });
assert.equal((await core.readNamespacedConfigMap({ name: "settings", namespace })).data.epochs, "3");
await core.deleteNamespacedConfigMap({ name: "settings", namespace });
const told = await core.listNamespacedEvent({ namespace, fieldSelector: "involvedObject.name=by-node" });
assert.ok(told.items.length > 0 && told.items.every((e) => e.involvedObject.kind === "TrainingJob"));

console.log("all well");
process.exit(0);
