from indexes.stores.lance.deferred import import_lancedb

import_lancedb()
