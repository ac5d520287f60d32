//! The search engines behind one trait, over the same documents: name, description and body.

use std::error::Error;

use bm25::{Document, Language, SearchEngine, SearchEngineBuilder};
use repertoire::matcher::{Relevance, RelevanceIndex};
use repertoire::{Skill, SkillId};
use tantivy::collector::{Collector, TopDocs};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, IndexWriter, Score, Searcher, SegmentReader, TantivyDocument};

use crate::terms::analyzer;

/// The number of skills to find.
pub(crate) const LIMIT: usize = 5;

/// A published skill and its id.
pub(crate) type Published = (SkillId, Skill);

/// A search engine that finds the best skills for a message.
pub(crate) trait Ranker {
    /// Replaces the content of `found` by the positions of the best [`LIMIT`] skills.
    fn rank(&mut self, message: &str, found: &mut Vec<u32>) -> Result<(), Box<dyn Error>>;
}

/// The library's index.
pub(crate) struct Repertoire {
    index: RelevanceIndex,
    ranked: Vec<(u32, Relevance)>,
}

impl Repertoire {
    pub(crate) fn new(skills: &[Published]) -> Repertoire {
        let index = RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)));
        Repertoire { index, ranked: Vec::new() }
    }
}

impl Ranker for Repertoire {
    fn rank(&mut self, message: &str, found: &mut Vec<u32>) -> Result<(), Box<dyn Error>> {
        self.index.rank_into(message, LIMIT, &mut self.ranked);
        found.clear();
        found.extend(self.ranked.iter().map(|(place, _)| *place));
        Ok(())
    }
}

/// The way in which `tantivy` finds the best documents for a union of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collect {
    /// `TopDocs::order_by_score`, which skips blocks of postings by their maximum score (block-max
    /// WAND).
    SkippingBlocks,
    /// `TopDocs::tweak_score` with the unchanged score, which visits every posting of the terms.
    EveryPosting,
}

/// `tantivy` in memory: one segment, one thread, term frequencies without positions, no stored fields.
///
/// Its terms are the library's words (`terms.rs`). All text is in one field, because searching three
/// fields takes longer. Queries are built from terms, because `QueryParser` takes ten times as long.
pub(crate) struct Tantivy {
    searcher: Searcher,
    field: Field,
    analyzer: TextAnalyzer,
    collect: Collect,
}

impl Tantivy {
    pub(crate) fn new(skills: &[Published], collect: Collect) -> tantivy::Result<Tantivy> {
        const TOKENIZER: &str = "terms";
        const MEMORY: usize = 2_000_000_000;
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs);
        let options = TextOptions::default().set_indexing_options(indexing);
        let field = schema.add_text_field("text", options);
        let index = Index::create_in_ram(schema.build());
        index.tokenizers().register(TOKENIZER, analyzer());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for (_, skill) in skills {
            let mut document = TantivyDocument::default();
            document.add_text(field, text(skill));
            writer.add_document(document)?;
        }
        writer.commit()?;
        let searcher = index.reader()?.searcher();
        // Within one segment, documents are numbered in the order in which they were added.
        assert_eq!(searcher.segment_readers().len(), 1, "the memory of the writer is too small");
        Ok(Tantivy { searcher, field, analyzer: analyzer(), collect })
    }

    /// Builds a query for any of the terms of a message.
    fn query(&mut self, message: &str) -> BooleanQuery {
        let mut terms: Vec<tantivy::Term> = Vec::new();
        self.analyzer.token_stream(message).process(&mut |token| {
            let term = tantivy::Term::from_field_text(self.field, &token.text);
            if !terms.contains(&term) {
                terms.push(term);
            }
        });
        let clause = |term| -> (Occur, Box<dyn Query>) {
            (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        };
        BooleanQuery::new(terms.into_iter().map(clause).collect())
    }

    fn search(
        &self,
        query: &BooleanQuery,
        collector: &impl Collector<Fruit = Vec<(Score, DocAddress)>>,
        found: &mut Vec<u32>,
    ) -> tantivy::Result<()> {
        let best = self.searcher.search(query, collector)?;
        found.clear();
        found.extend(best.iter().map(|(_, address)| address.doc_id));
        Ok(())
    }
}

impl Ranker for Tantivy {
    fn rank(&mut self, message: &str, found: &mut Vec<u32>) -> Result<(), Box<dyn Error>> {
        let query = self.query(message);
        let top = TopDocs::with_limit(LIMIT);
        match self.collect {
            Collect::SkippingBlocks => self.search(&query, &top.order_by_score(), found)?,
            Collect::EveryPosting => {
                let as_it_is = |_: &SegmentReader| |_, score: Score| score;
                self.search(&query, &top.tweak_score(as_it_is), found)?;
            }
        }
        Ok(())
    }
}

/// The crate `bm25`, with its own tokenizer.
pub(crate) struct Bm25(SearchEngine<u32>);

impl Bm25 {
    pub(crate) fn new(skills: &[Published]) -> Bm25 {
        let document =
            |(place, (_, skill)): (usize, &Published)| Document::new(place as u32, text(skill));
        let documents = skills.iter().enumerate().map(document);
        Bm25(SearchEngineBuilder::with_documents(Language::English, documents).build())
    }
}

impl Ranker for Bm25 {
    fn rank(&mut self, message: &str, found: &mut Vec<u32>) -> Result<(), Box<dyn Error>> {
        found.clear();
        found.extend(self.0.search(message, LIMIT).iter().map(|result| result.document.id));
        Ok(())
    }
}

/// Returns the text of a skill that is indexed.
fn text(skill: &Skill) -> String {
    let body = skill.body().unwrap_or_default();
    format!("{}\n{}\n{body}", skill.name(), skill.description())
}
