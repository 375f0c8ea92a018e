//! The subject `indexer`.

use deltascope::cache::error::Error;
use deltascope::cache::key_func::KeyFunc;
use deltascope::cache::object::Item;
use deltascope::cache::order::Order;
use deltascope::cache::store::{Indexer, StoreOptions, Transaction, TransactionType};
use serde_json::{Map, Value, json};

use super::object::{indexers, item, items, key_func, plain, reference};
use super::{Got, Members, Pod, Sets, Step, Subject, index_state, texts, unknown_op};

pub(crate) struct Play {
    store: Indexer<Pod>,
    key_func: KeyFunc<Pod>,
    minor: u32,
}

impl Play {
    pub(crate) fn new(minor: u32, mut options: Members) -> Result<Self, String> {
        let key_func = key_func(&options.text("keyFunc")?)?;
        let indexers = indexers(options.texts("indexers")?)?;
        options.generation()?;
        options.finish("the options")?;
        let store_options = StoreOptions {
            order: Order::Key,
            // Allowed since 0.30.
            refuses_late_indexers: minor < 30,
            keeps_resource_version: minor >= 36,
            ..StoreOptions::default()
        };
        Ok(Self {
            store: Indexer::with_options(key_func.clone(), indexers, store_options),
            key_func,
            minor,
        })
    }

    fn pairs<'a>(&self, items: impl Iterator<Item = &'a Item<Pod>>) -> Value {
        let key = |item| (self.key_func)(item).map_or(Value::Null, |key| json!(key.as_str()));
        items
            .map(|item| json!([key(item), reference(item)]))
            .collect()
    }

    fn found(item: Option<&Item<Pod>>) -> Value {
        json!({ "exists": item.is_some(), "rv": item.map(reference) })
    }
}

impl Subject for Play {
    fn play(&mut self, step: &mut Step) -> Result<Got, String> {
        let since = match step.op.as_str() {
            "Transaction" => 35,
            "Bookmark" | "LastStoreSyncResourceVersion" => 36,
            _ => 0,
        };
        if self.minor < since {
            return Err(format!("{:?} does not exist in this version", step.op));
        }
        let args = &mut step.args;
        let mut plain_texts = Vec::new();
        let mut one = |args: &mut Members| {
            let item = item(args.required("obj")?)?;
            plain_texts = plain([&item]);
            Ok::<_, String>(item)
        };
        let nothing = |result: Result<(), Error>| result.map(|()| Value::Null);
        let outcome: Result<Value, Error> = match step.op.as_str() {
            "Add" => nothing(self.store.add(one(args)?, &mut ())),
            "Update" => nothing(self.store.update(one(args)?, &mut ())),
            "Delete" => nothing(self.store.delete(&one(args)?, &mut ())),
            "Replace" => {
                let objects = items(args.required_list("objs")?)?;
                plain_texts = plain(&objects);
                let rv = args.text("rv")?;
                nothing(self.store.replace(objects, &rv, &mut ()))
            }
            "Get" => self.store.get(&one(args)?).map(Self::found),
            "GetByKey" => Ok(Self::found(self.store.get_by_key(&args.text("key")?))),
            "List" => Ok(json!({ "items": self.pairs(self.store.list()) })),
            "ListKeys" => {
                let keys: Vec<_> = self.store.list_keys().map(|key| key.as_str()).collect();
                Ok(json!({ "keys": keys }))
            }
            "Index" => {
                let (index, item) = (args.text("index")?, one(args)?);
                self.store
                    .index(&index, &item)
                    .map(|items| json!({ "items": self.pairs(items) }))
            }
            "ByIndex" => {
                let (index, value) = (args.text("index")?, args.text("value")?);
                self.store
                    .by_index(&index, &value)
                    .map(|items| json!({ "items": self.pairs(items) }))
            }
            "IndexKeys" => {
                let (index, value) = (args.text("index")?, args.text("value")?);
                self.store.index_keys(&index, &value).map(|keys| {
                    let keys: Vec<_> = keys.into_iter().map(|key| key.as_str()).collect();
                    json!({ "keys": keys })
                })
            }
            "ListIndexFuncValues" => {
                let values = self.store.list_index_func_values(&args.text("index")?);
                let values: Vec<_> = values.into_iter().map(|value| &**value).collect();
                Ok(json!({ "values": values }))
            }
            "GetIndexers" => {
                let indexers = self.store.get_indexers();
                let names: Vec<_> = indexers.keys().map(|name| &**name).collect();
                Ok(json!({ "names": names }))
            }
            "AddIndexers" => {
                let names = args.required_list("indexers")?;
                let new = indexers(texts("indexers", names)?)?;
                nothing(self.store.add_indexers(new, &mut ()))
            }
            "Resync" => {
                self.store.resync();
                Ok(Value::Null)
            }
            "Bookmark" => {
                self.store.bookmark(&args.text("rv")?, &mut ());
                Ok(Value::Null)
            }
            "LastStoreSyncResourceVersion" => {
                Ok(json!({ "rv": self.store.last_store_sync_resource_version() }))
            }
            "Transaction" => {
                let transactions = args
                    .required_list("txns")?
                    .into_iter()
                    .map(transaction)
                    .collect::<Result<Vec<_>, _>>()?;
                plain_texts = plain(transactions.iter().map(|t| &t.object));
                nothing(self.store.transaction(transactions, &mut ()))
            }
            op => return Err(unknown_op(op)),
        };
        let mut got = Got {
            plain: plain_texts,
            ..Got::default()
        };
        match outcome {
            Ok(result) => got.result = result,
            Err(error) => {
                if let Error::Transaction(transaction) = &error {
                    got.result = json!({
                        "successfulIndices": transaction.successful_indices,
                        "totalTransactions": transaction.total_transactions,
                    });
                }
                got.error = Some(error);
            }
        }
        Ok(got)
    }

    fn state(&self) -> Value {
        let items: Map<String, Value> = self
            .store
            .iter()
            .map(|(key, item)| (key.to_string(), reference(item)))
            .collect();
        json!({
            "items": items,
            "indices": index_state(&self.store),
            "rv": self.store.last_store_sync_resource_version(),
        })
    }

    fn sets(&self, op: &str) -> Sets {
        Sets {
            result: !matches!(op, "IndexKeys" | "Transaction"),
            state: &["indices"],
        }
    }
}

fn transaction(entry: Value) -> Result<Transaction<Pod>, String> {
    let Value::Array(mut entry) = entry else {
        return Err(format!("not a transaction: {entry}"));
    };
    let (Some(object), Some(Value::String(name)), None) = (entry.pop(), entry.pop(), entry.pop())
    else {
        return Err("a transaction is a pair of type and object".into());
    };
    let transaction_type = match name.as_str() {
        "Add" => TransactionType::Add,
        "Update" => TransactionType::Update,
        "Delete" => TransactionType::Delete,
        _ => return Err(format!("unknown transaction {name:?}")),
    };
    Ok(Transaction {
        transaction_type,
        object: item(object)?,
    })
}
