// What a server serves: one resource type, built in or from a CustomResourceDefinition.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "kube/object.h"
#include "kube/schema.h"

namespace meridian::kube {

enum class Scope { cluster, namespaced };

// additionalPrinterColumns: what `kubectl get` shows.
struct PrinterColumn {
  std::string name, type, format, description;
  std::string json_path;  // ".status.trainingJobStatus" (kube/json_path.h)
  int priority = 0;       // > 0: only with -o wide
  // Instead of json_path, for built-in kinds whose cells are worked out ("3 keys").
  std::function<base::Json(const base::Json& object)> cell;
};

struct Resource {
  ResourceId id;
  std::string kind, list_kind, singular;
  std::vector<std::string> short_names, categories;
  Scope scope = Scope::namespaced;
  enum class StatusSubresource { no, yes } status_subresource = StatusSubresource::no;
  std::vector<PrinterColumn> columns;          // without NAME; AGE is added when there are none
  std::shared_ptr<const Schema> schema;        // null: any object with metadata
  std::vector<std::string> selectable_fields;  // beside metadata.name and metadata.namespace
  bool stored = true;  // the version that is stored (spec.versions[].storage)
};

// All served versions of a CRD, in its order. StatusError(422) with causes when it is not a sound
// definition. The scale subresource and conversion webhooks are not supported: the first is left
// out, the second is a cause.
std::vector<Resource> resources_of_crd(const base::Json& crd);

// meta.k8s.io/v1 Table of these objects; ages as of `now` ("5m", "3d4h"). With `objects` =
// metadata each row carries PartialObjectMetadata, with full the object, with none nothing. Cells
// without a value are null.
enum class RowObject { none, metadata, full };
base::Json make_table(const Resource& resource, const std::vector<base::Json>& objects,
                      base::Timestamp now, RowObject row_object = RowObject::metadata);
// As kubectl prints ages: "45s", "2m5s", "12m", "3h12m", "9h", "2d3h", "9d", "2y10d"; "<invalid>"
// for more than a second in the future.
std::string human_duration(base::Duration age);

}  // namespace meridian::kube
