// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/catalog.h"

#include "base/log.h"
#include "kubeserver/kinds/builtin.h"

namespace meridian::kubeserver::objects {
namespace {

using kinds::Registry;
using kinds::ServedPtr;

std::vector<ServedPtr> read_definition(const store::Document& document) {
  const base::Json definition =
      read_object(builtin("customresourcedefinitions"), document.body, document.revision);
  try {
    return kinds::served_by(definition);
  } catch (const base::Error& error) {
    // Accepted by another release; what it stored stays, unserved.
    base::log_warn("a CustomResourceDefinition is not served",
                   {{"name", kube::name_of(definition)}, {"why", error.what()}});
    return {};
  }
}

}  // namespace

const kinds::Served& builtin(std::string_view plural) {
  for (const ServedPtr& served : kinds::builtin_resources()) {
    if (served->plural() == plural) return *served;
  }
  throw base::Error(base::Code::internal, "no built-in resource " + std::string(plural));
}

Catalog::Catalog(const Storage& storage) : storage_(storage) { reload(); }

void Catalog::reload() {
  auto entries = entries_.lock();
  Entries next;
  store::ListQuery query{
      .prefix = storage_.prefix_of(builtin("customresourcedefinitions").collection), .limit = 200};
  do {
    const store::Page page = storage_.store().list(query);
    for (const store::Document& document : page.documents) {
      const auto known = entries->find(document.key);
      const bool same = known != entries->end() && known->second.revision == document.revision;
      next[document.key] =
          same ? known->second : Entry{document.revision, read_definition(document)};
    }
    query.token = page.next_token;
  } while (!query.token.empty());

  std::vector<ServedPtr> all = kinds::builtin_resources();
  for (const auto& [name, entry] : next) {
    all.insert(all.end(), entry.served.begin(), entry.served.end());
  }
  *entries = std::move(next);
  *registry_.lock() = std::make_shared<const Registry>(std::move(all));
}

}  // namespace meridian::kubeserver::objects
